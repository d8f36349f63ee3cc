import { ServiceError } from '../values/errors.ts'

/** What a key may change, in the order in which they are told. To look at everything but webhooks, any key will do. */
export const PERMISSIONS = ['stock', 'orders', 'pets', 'webhooks'] as const
export type Permission = (typeof PERMISSIONS)[number]

const SUBJECTS: Readonly<Record<Permission, string>> = {
  stock: 'the stock',
  orders: 'orders',
  pets: 'pets and categories',
  webhooks: 'webhooks, nor look at them',
}

/** As they are stored, shown to people and given on the command line: `stock,orders`, or `none`. */
export function permissionText(permissions: readonly Permission[]): string {
  return permissions.length === 0 ? 'none' : permissions.join()
}

/** A name that is not known here permits nothing. */
export function permissionsIn(text: string): readonly Permission[] {
  const names = text.split(',')
  return PERMISSIONS.filter((permission) => names.includes(permission))
}

interface Permitted {
  readonly id: string
  readonly permissions: readonly Permission[]
}

/** The caller is told what is missing, and what whoever runs the service does about it. */
export function requirePermission({ id, permissions }: Permitted, needed: Permission): void {
  if (permissions.includes(needed)) return
  const enough = PERMISSIONS.filter((each) => each === needed || permissions.includes(each))
  throw new ServiceError(
    'forbidden',
    `this key may not change ${SUBJECTS[needed]}: it needs the permission "${needed}" (petstore keys change ${id} --may ${permissionText(enough)})`,
  )
}
