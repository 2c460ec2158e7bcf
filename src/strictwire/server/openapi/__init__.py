"""Tools from an OpenAPI 3 document.

document     the document: its limits, its references
schemas      schemas of OpenAPI as JSON Schema
operation    an operation as a contract, or the reason why it cannot be a tool
response     a request with the author's HTTP client, and the response, of limited size
upstream     the HTTP request of a call, and what its response means
"""
