import { PEOPLE_ITEM, Vault } from './vault.ts'

/** Browsers offer encryption only to pages over https and of this machine. */
export const canUsePins = globalThis.crypto?.subtle !== undefined

/** The people with a PIN in this browser. All tabs share them. */
export const vault = new Vault(localStorage, async (work) => navigator.locks.request(PEOPLE_ITEM, work))

addEventListener('storage', ({ key }: StorageEvent) => {
  if (key === PEOPLE_ITEM || key === null) vault.refresh()
})
