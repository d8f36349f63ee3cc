import { setQuantity } from '../../core/inventory.ts'
import { defineOperation } from '../operation.ts'
import { Int64, InventoryItem, InventoryUpdate } from '../resources.ts'

export const updateInventory = defineOperation({
  operationId: 'updateInventory',
  method: 'PATCH',
  path: '/inventory/{petId}',
  summary: 'Set the stock quantity of one pet',
  description:
    'Sets the stock quantity of one pet, to record new arrivals, returns or manual adjustments. The answer is given once the change is on disk. Experimental: the request shape may change before it becomes stable.',
  tag: 'inventory',
  stability: 'experimental',
  params: { petId: Int64('The pet whose stock is updated.') },
  body: InventoryUpdate,
  success: { description: 'The updated entry.', schema: InventoryItem },
  errors: ['invalid_request', 'forbidden', 'not_found', 'payload_too_large'],
  handle: ({ params, body, key }, { store, clock }) =>
    setQuantity(store, { petId: params.petId, quantity: body.quantity, keyId: key.id, at: clock() }),
})
