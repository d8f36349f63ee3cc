import { userInfo } from 'node:os'
import type { KeyAct, KeyRecord } from '../../../core/keys/key-store.ts'
import type { Store } from '../../../store/store.ts'

/** Now, by whoever is logged in: for the audit. */
export function thisAct(): KeyAct {
  const { username, uid } = userInfo()
  return { at: Date.now(), actor: username === 'unknown' ? `uid ${uid}` : username }
}

/** The secret alone goes to standard output, so that a script can take it from there. */
export function handOver(secret: string, explanation: string): void {
  console.error(`${explanation} Keep the key, it is not shown again:`)
  console.log(secret)
}

/** The key that an operator means: by id, by the beginning of an id, or by a name that only one key has. */
export async function requireKey(store: Store, reference: string): Promise<KeyRecord> {
  const records = await store.listKeys()
  const exact = records.find(({ key }) => key.id === reference)
  if (exact !== undefined) return exact
  const alike = records.filter(({ key }) => key.name === reference || key.id.startsWith(reference))
  const [only] = alike
  if (only !== undefined && alike.length === 1) return only
  if (alike.length > 1) {
    const ids = alike.map(({ key }) => key.id).join(', ')
    throw new Error(`"${reference}" could be any of ${ids}; give the id`)
  }
  throw new Error(`there is no key "${reference}"; petstore keys list shows all`)
}
