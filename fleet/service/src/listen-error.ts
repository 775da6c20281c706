/** Says what is wrong with an address or a port that a service cannot listen on. */
import { UserError, codeOf } from "./errors.ts";

/** Where a service listens, and the names of the settings that say so. */
export interface Place {
  readonly address: string;
  readonly port: number;
  readonly addressName: string;
  readonly portName: string;
}

/** Returns a UserError for an address or port that the operator can change, else the error itself. */
export function explainListen(error: Error, { address, port, addressName, portName }: Place): Error {
  const problems: Readonly<Record<string, string>> = {
    EADDRINUSE: `port: got ${port}, which another program listens on at ${address}; expected a free one (${portName})`,
    EACCES: `port: got ${port}, which this user may not listen on; expected one above 1023 (${portName})`,
    EADDRNOTAVAIL: `address: got ${address}, which this machine does not have; expected one of its own (${addressName})`,
    ENOTFOUND: `address: got ${address}, which has no meaning here; expected an address of this machine (${addressName})`,
  };
  const problem = problems[codeOf(error)];
  return problem === undefined ? error : new UserError(problem, { cause: error });
}
