"""Plans. Pure: `model` the values, `plan_markdown` the text form, `lint` the checks, `scope` what a plan permits.
With I/O: `approval` the signatures, `plan_files` the files."""
