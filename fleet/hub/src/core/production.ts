/**
 * Import this file before all others. graphql reads NODE_ENV when it is imported, and checks each value twice outside
 * of production.
 */
process.env["NODE_ENV"] ??= "production";
