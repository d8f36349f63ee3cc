import { type Permission, VALUES } from '@petstore/client'

/** The parts of the shop that a person may change. */
export const PERMISSION_WORDS: Readonly<Record<Permission, string>> = {
  stock: 'Stock',
  orders: 'Orders',
  pets: 'Pets',
  webhooks: 'Webhooks',
  keys: 'People',
}

export function permissionWords(permissions: readonly Permission[]): string {
  if (permissions.length === 0) return 'May only look'
  if (permissions.length === VALUES.Permission.length) return 'May change everything'
  const words = VALUES.Permission.filter((each) => permissions.includes(each)).map(
    (each) => PERMISSION_WORDS[each],
  )
  return `May change ${words.join(', ').toLowerCase()}`
}
