import { expect, test } from 'bun:test'
import contract from '../../../openapi.json'

const MAX_INT32 = 2 ** 31 - 1

interface IntegerSchema {
  readonly type: 'integer'
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
}

test('every integer of the contract has a format that holds all its values', () => {
  const integers = integersIn(contract, '')
  expect(integers.length).toBeGreaterThan(100)
  const wrong = integers.filter(([, { format, minimum, maximum }]) => {
    const fitsInt32 = minimum !== undefined && minimum >= -MAX_INT32 - 1 && (maximum ?? Infinity) <= MAX_INT32
    return format !== (fitsInt32 ? 'int32' : 'int64')
  })
  expect(wrong.map(([path]) => path)).toEqual([])
})

test('a quantity is an int64, because it can exceed 2^31', () => {
  const { InventoryItem, InventoryUpdate } = contract.components.schemas
  for (const { properties } of [InventoryItem, InventoryUpdate]) {
    expect(properties.quantity).toMatchObject({ format: 'int64', maximum: Number.MAX_SAFE_INTEGER })
  }
})

/** Each schema of an integer in this part of the contract, with its path. */
function integersIn(part: unknown, path: string): [path: string, schema: IntegerSchema][] {
  if (typeof part !== 'object' || part === null) return []
  const inner = Object.entries(part).flatMap(([key, value]) => integersIn(value, `${path}/${key}`))
  return isInteger(part) ? [[path, part], ...inner] : inner
}

function isInteger(part: object): part is IntegerSchema {
  return 'type' in part && part.type === 'integer'
}
