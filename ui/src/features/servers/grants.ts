import type { GrantLine, GrantRequest, GrantSource } from '$host/bindings';

/** What may stand before a value in a header. */
const BEARER = 'Bearer ';

/** A value that a server is to be given, as a form holds it. */
export interface Grant {
  name: string;
  from: GrantSource;
  /** Whether `Bearer` stands before the value. */
  bearer: boolean;
  value: string;
}

export function grantOf(line: GrantLine): Grant {
  return { name: line.name, from: line.from, bearer: line.before !== '', value: line.value };
}

export function requestOf(grant: Grant): GrantRequest {
  return { name: grant.name, from: grant.from, value: `${grant.bearer ? BEARER : ''}${grant.value}` };
}

export function newGrant(): Grant {
  return { name: '', from: 'secret', bearer: false, value: '' };
}
