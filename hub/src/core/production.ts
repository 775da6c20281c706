/** Imported before anything else: graphql checks each value twice unless it is told, at its first import, that this is no workbench. */
process.env["NODE_ENV"] ??= "production";
