/** How large one answer of /graphql may be, and how many devices a team may have for it. */

/**
 * Devices in an answer times fields in the document: what one request may cost to execute. 5,000 devices with 20
 * fields. Without this limit, 20 aliases would multiply a long list by 20.
 */
export const MAX_VALUES = 100_000;

/** Fields of the documented query: `query { team { devices { nodes { id name } } } }`. */
const LIST_FIELDS = 5;

/** A team may not have more devices than one answer to the documented query can hold. */
export const MAX_DEVICES = MAX_VALUES / LIST_FIELDS;
