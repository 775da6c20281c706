/**
 * Import this before anything else. graphql reads NODE_ENV at its import, and checks each value twice outside of
 * production.
 */
process.env["NODE_ENV"] ??= "production";
