"""Dense retrieval with a local ONNX model. Imported only if `semantic_model` is set: it needs the extra `semantic`."""
