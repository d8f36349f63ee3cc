import Type from 'typebox'
import { andThen } from '../../core/values/maybe-promise.ts'
import { inventoryReply } from '../inventory-reply.ts'
import { defineOperation } from '../operation.ts'
import { InventoryItem } from '../resources.ts'

export const listInventory = defineOperation({
  operationId: 'listInventory',
  method: 'GET',
  path: '/inventory',
  summary: 'List stock levels',
  description: 'Returns the current stock levels for all pets in the store, by petId ascending.',
  tag: 'inventory',
  stability: 'stable',
  params: {},
  success: { description: 'The stock level of every pet.', schema: Type.Array(InventoryItem) },
  errors: [],
  reply: ({ request }, { view }) => andThen(view.current(), (snapshot) => inventoryReply(snapshot, request)),
})
