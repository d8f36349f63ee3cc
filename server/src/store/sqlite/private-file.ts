import { closeSync, fchmodSync, fchownSync, openSync } from 'node:fs'

/**
 * Makes an empty file, which SQLite takes for a new database. It holds key hashes and a shop's figures, so nobody but
 * the owner reads it, not even its first bytes. SQLite gives the -wal and -shm files beside it the same rights.
 * Where `mustBeNew` is false, another process may have been faster, and a link may lead to where it is made. It is given
 * to `owner` before anybody can put another file in its place.
 */
export function createPrivateFile(
  path: string,
  {
    mustBeNew,
    owner,
  }: { readonly mustBeNew: boolean; readonly owner?: { uid: number; gid: number } | undefined },
): void {
  const file = openSync(path, mustBeNew ? 'wx' : 'a', 0o600)
  try {
    // The umask takes rights away from what is made, and could take the owner's.
    fchmodSync(file, 0o600)
    if (owner !== undefined) fchownSync(file, owner.uid, owner.gid)
  } finally {
    closeSync(file)
  }
}
