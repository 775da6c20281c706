/**
 * Import this before anything else. graphql reads NODE_ENV at its first import; outside of production it checks each
 * value twice.
 */
process.env["NODE_ENV"] ??= "production";
