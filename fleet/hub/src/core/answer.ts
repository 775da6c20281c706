/** Limits the size of one answer of /graphql, and therefore the number of devices in a team. */

/**
 * Largest number of values in one answer: devices times fields of the document, for example 5,000 devices with 20
 * fields. Without this limit, a query could request the same long list under 20 aliases.
 */
export const MAX_VALUES = 100_000;

/** Number of fields in the documented query: `query { team { devices { nodes { id name } } } }`. */
const LIST_FIELDS = 5;

/** Largest number of devices in a team, so that one answer to the documented query can hold all of them. */
export const MAX_DEVICES = MAX_VALUES / LIST_FIELDS;
