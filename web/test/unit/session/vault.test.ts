import { describe, expect, test } from 'bun:test'
import { PEOPLE_ITEM, PIN_FORM, Vault } from '../../../src/staff-page/session/vault.ts'

const ANNA = { id: 'key_anna', name: 'Anna' }
const BEN = { id: 'key_ben', name: 'Ben' }
const SECRET = 'pst_live_7Hq2mXv4Tz9LpKc1RbYw5NsEd8JfGu3aVQx9fQx'

/** The storage of a device, which all tabs share. */
class Device {
  readonly items = new Map<string, string>()
  #last: Promise<unknown> = Promise.resolve()

  openTab(): Vault {
    const storage = {
      getItem: (name: string) => this.items.get(name) ?? null,
      setItem: (name: string, value: string) => void this.items.set(name, value),
      removeItem: (name: string) => void this.items.delete(name),
    }
    return new Vault(storage, (work) => {
      const next = this.#last.then(work)
      this.#last = next.catch(() => {})
      return next
    })
  }

  get stored(): string {
    return this.items.get(PEOPLE_ITEM) ?? ''
  }
}

async function deviceWith(...people: readonly { id: string; name: string }[]) {
  const device = new Device()
  const vault = device.openTab()
  for (const person of people) await vault.add(person, SECRET, '2468')
  return { device, vault }
}

const names = ({ people }: Vault) => people.get().map(({ name }) => name)

describe('the vault', () => {
  test('gives the key back for the right PIN only, and stores neither key nor PIN', async () => {
    const { device, vault } = await deviceWith(ANNA)
    expect(device.stored).not.toContain('pst_')
    expect(device.stored).not.toContain('2468')
    expect(await vault.unlock(ANNA.id, '2469')).toEqual({ type: 'wrong', attemptsLeft: 9 })
    expect(await device.openTab().unlock(ANNA.id, '2468')).toEqual({ type: 'unlocked', apiKey: SECRET })
    expect(await vault.unlock(ANNA.id, '0000')).toEqual({ type: 'wrong', attemptsLeft: 9 })
  })

  test('derives a key with a salt of each person and at least 600,000 iterations', async () => {
    const { device } = await deviceWith(ANNA, BEN)
    const stored = JSON.parse(device.stored)
    expect(stored).toMatchObject([{ iterations: 600_000 }, { iterations: 600_000 }])
    expect(stored[0].salt).not.toBe(stored[1].salt)
    expect(stored[0].encryptedKey).not.toBe(stored[1].encryptedKey)
  })

  test('does not open the key of one person under the id of another', async () => {
    const { device, vault } = await deviceWith(ANNA, BEN)
    device.items.set(PEOPLE_ITEM, device.stored.replace(ANNA.id, 'key_eve'))
    vault.refresh()
    expect(await vault.unlock('key_eve', '2468')).toMatchObject({ type: 'wrong' })
  })

  test('counts an attempt before it is made, so that ten parallel ones in two tabs are all there are', async () => {
    const { device, vault } = await deviceWith(ANNA, BEN)
    const other = device.openTab()
    const counted = vault.unlock(ANNA.id, '1111')
    await Promise.resolve().then(() => Promise.resolve())
    expect(JSON.parse(device.stored)[0].attempts).toBe(1)
    const rest = Array.from({ length: 11 }, (_, index) =>
      (index % 2 === 0 ? other : vault).unlock(ANNA.id, `000${index % 10}`),
    )
    const results = await Promise.all([counted, ...rest])
    expect(results.map(({ type }): string => type)).toEqual([
      ...Array.from({ length: 9 }, () => 'wrong'),
      'removed',
      'removed',
      'removed',
    ])
    expect(device.stored).not.toContain(ANNA.id)
    other.refresh()
    expect([names(vault), names(other)]).toEqual([['Ben'], ['Ben']])
  })

  test('a last attempt that a reload interrupts removes the person', async () => {
    const { device, vault } = await deviceWith(ANNA)
    device.items.set(PEOPLE_ITEM, device.stored.replace('"attempts":0', '"attempts":10'))
    expect(await vault.unlock(ANNA.id, '2468')).toEqual({ type: 'removed' })
    expect(device.items.size).toBe(0)
  })

  test('changes a PIN and a name, and removes a person', async () => {
    const { vault } = await deviceWith(ANNA, BEN)
    await vault.add(ANNA, SECRET, '13579')
    await vault.rename({ ...ANNA, name: 'Anne' })
    expect(names(vault).toSorted()).toEqual(['Anne', 'Ben'])
    expect(await vault.unlock(ANNA.id, '2468')).toMatchObject({ type: 'wrong' })
    expect(await vault.unlock(ANNA.id, '13579')).toMatchObject({ type: 'unlocked' })
    await vault.remove(ANNA.id)
    expect(names(vault)).toEqual(['Ben'])
  })

  test('ignores what is not a list of people', () => {
    for (const text of ['{', '{}', 'null', '7']) {
      const device = new Device()
      device.items.set(PEOPLE_ITEM, text)
      expect(names(device.openTab())).toEqual([])
    }
  })

  test.each(['123', '123456789', '12 34', '12a4', '١٢٣٤'])('%p is no PIN', (text) => {
    expect(PIN_FORM.test(text)).toBe(false)
  })
})
