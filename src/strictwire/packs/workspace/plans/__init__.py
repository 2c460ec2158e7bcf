"""Plans: `model` what one says, `text` its Markdown, `lint` what is wrong with it, `scope` what it permits (all pure);
`approval` signatures, `shelf` the files."""
