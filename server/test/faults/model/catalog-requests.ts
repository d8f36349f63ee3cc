/** Few of each, so that pets compete for them, and searches find created pets. */
export const NAMES = ['Biscuit', 'Biscuit the Second', 'Мурка, the "Great"', 'Zoë 🐶', '1030 A-1'] as const
export const CATEGORY_NAMES = [
  ...['Dogs', 'DOGS', 'Cats & Kittens', 'Птицы', 'птицы', 'Fish', 'x'.repeat(200)],
] as const
/** Some are also ids, and some are words. */
export const BARCODES = ['4006381333931', 'A-1', '1', '1030', `"';--%`] as const
/** Around the quantities of pets, and the maximum. */
export const THRESHOLDS = [0, 1, 2, 3, 30, Number.MAX_SAFE_INTEGER] as const
/** Categories for pets; some exist from the beginning, and always have pets. */
export const CATEGORY_IDS = [
  ...[1n, 2n, 0n, 3n, 4n, 9007199254740993n],
  ...[-9223372036854775808n, 9223372036854775807n],
] as const

/** Search texts: words, their prefixes, ids, barcodes, and texts without a match. */
export const TEXTS = [
  ...['biscuit', 'BISC sec', 'second bis', 'мур', 'zoe', 'pet', 'pet 1', 'pet pe', 'a-1', 'A-1', '1', '1030'],
  ...['4006381333931', '-1', '9223372036854775807', '🐶', `"';--%`, 'no such name'],
] as const

const pet = (more: string) => `{"name":"Rex","categoryId":1,${more}}`

/** Invalid pets. */
export const BAD_PETS: readonly string[] = [
  ...['', '[]', '{}', '{"name":"Rex"}', '{"categoryId":1}', '{"name":"Rex","categoryId":"1"}'],
  ...['{"name":"","categoryId":1}', '{"name":" \\t","categoryId":1}', '{"name":"a\\nb","categoryId":1}'],
  ...[`{"name":"${'x'.repeat(201)}","categoryId":1}`, '{"name":"\\ud800","categoryId":1}'],
  ...[pet('"id":1.5'), pet('"id":9223372036854775808'), pet('"status":"new"'), pet('"quantity":-1')],
  ...[pet('"quantity":null'), pet('"lowStockAt":-1'), pet('"lowStockAt":null'), pet('"lowStockAt":1.5')],
  ...[pet('"barcode":""'), pet('"barcode":"a b"'), pet('"barcode":null'), pet('"barcode":1')],
  ...[pet(`"barcode":"${'1'.repeat(49)}"`)],
]

export const BAD_PET_UPDATES: readonly string[] = [
  ...['', '[]', '{}', '{"quantity":1}', '{"name":null}', '{"name":""}', '{"categoryId":null}'],
  ...['{"status":"gone"}', '{"barcode":""}', '{"lowStockAt":-1}', '{"lowStockAt":"3"}'],
]

export const BAD_CATEGORIES: readonly string[] = [
  ...['', '{}', '{"name":""}', `{"name":"${'x'.repeat(201)}"}`, '{"name":"Dogs","id":"1"}'],
  ...['{"name":"Dogs","lowStockAt":null}', '{"name":"Dogs","lowStockAt":-1}'],
]

export const BAD_CATEGORY_UPDATES: readonly string[] = [
  ...['', '{}', '{"id":1}', '{"name":null}', '{"name":"a\\u0007b"}', '{"lowStockAt":9007199254740992}'],
]
