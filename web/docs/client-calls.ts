import type { OperationId, PetstoreClient } from '@petstore/client'

type MethodOf<Api> = {
  [Resource in keyof Api & string]: `${Resource}.${keyof Api[Resource] & string}`
}[keyof Api & string]

type TypeScriptCall = `${MethodOf<PetstoreClient>}(${string})`

interface ClientCalls {
  readonly typescript: TypeScriptCall
  /** `null` if the Python client has no method for the operation. */
  readonly python: string | null
}

/**
 * The call of each client for each operation; one text if both are the same. Names in braces stand for a parameter of
 * the path, the body, or a field of the body. It does not compile without a line for each operation, and a test runs
 * every call.
 */
const CLIENT_CALLS: Readonly<Record<OperationId, TypeScriptCall | ClientCalls>> = {
  listInventory: 'inventory.list()',
  inventoryEvents: { typescript: 'inventory.events()', python: 'events()' },
  getInventoryItem: 'inventory.get({petId})',
  updateInventory: {
    typescript: 'inventory.set({petId}, {body})',
    python: 'inventory.set({petId}, {quantity})',
  },
  adjustInventory: {
    typescript: 'inventory.adjust({body})',
    python: 'inventory.adjust({changes}, reason={reason}, reference={reference})',
  },
  getAvailability: 'inventory.availability({petId})',
  listInventoryHistory: 'inventory.history({petId})',
  listRecentChanges: { typescript: 'inventory.changes()', python: 'inventory.history()' },
  searchInventory: 'inventory.search()',
  createPet: 'pets.create({body})',
  upsertPets: { typescript: 'pets.upsert({body})', python: 'pets.upsert_many({pets})' },
  getPet: 'pets.get({petId})',
  updatePet: 'pets.update({petId}, {body})',
  removePet: 'pets.remove({petId})',
  listCatalog: { typescript: 'catalog.list()', python: 'pets.list()' },
  listPetEdits: 'pets.history()',
  getCatalogPet: 'pets.get({petId})',
  listCategories: 'categories.list()',
  createCategory: 'categories.create({body})',
  updateCategory: 'categories.update({categoryId}, {body})',
  removeCategory: 'categories.remove({categoryId})',
  listOrders: 'orders.list()',
  createOrder: 'orders.create({body})',
  createOrders: { typescript: 'orders.createMany({body})', python: 'orders.create_many({orders})' },
  getOrder: 'orders.get({orderId})',
  updateOrder: 'orders.update({orderId}, {body})',
  cancelOrder: 'orders.cancel({orderId})',
  listWebhooks: 'webhooks.list()',
  createWebhook: 'webhooks.create({body})',
  getWebhook: 'webhooks.get({webhookId})',
  updateWebhook: 'webhooks.update({webhookId}, {body})',
  removeWebhook: 'webhooks.remove({webhookId})',
  listWebhookDeliveries: 'webhooks.deliveries({webhookId})',
  rotateWebhookSecret: {
    typescript: 'webhooks.rotateSecret({webhookId})',
    python: 'webhooks.rotate_secret({webhookId})',
  },
  replayWebhook: {
    typescript: 'webhooks.replay({webhookId}, {body})',
    python: 'webhooks.replay({webhookId}, {from})',
  },
  takeOverWebhook: {
    typescript: 'webhooks.takeOver({webhookId})',
    python: 'webhooks.take_over({webhookId})',
  },
  testWebhook: 'webhooks.test({webhookId})',
  listKeys: 'keys.list()',
  listKeyNames: { typescript: 'keys.names()', python: null },
  createKey: 'keys.create({body})',
  getKey: 'keys.get({keyId})',
  listKeyAudit: 'keys.audit({keyId})',
  updateKey: 'keys.update({keyId}, {body})',
  revokeKey: 'keys.revoke({keyId})',
  rotateKey: {
    typescript: 'keys.rotate({keyId}, {body})',
    python: 'keys.rotate({keyId}, grace_seconds={graceSeconds})',
  },
  createPairingCode: { typescript: 'keys.createPairingCode({keyId})', python: 'keys.pairing_code({keyId})' },
  pairKey: { typescript: 'keys.pair()', python: null },
  getLimits: { typescript: 'limits.get()', python: 'limits()' },
}

export function clientCalls(operationId: string): ClientCalls {
  const calls: TypeScriptCall | ClientCalls | undefined = CLIENT_CALLS[operationId as OperationId]
  if (calls === undefined) throw new Error(`add the calls of ${operationId} to web/docs/client-calls.ts`)
  return typeof calls === 'string' ? { typescript: calls, python: calls } : calls
}
