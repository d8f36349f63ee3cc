/** The names, categories and thresholds of a store that is searched. */
export interface CataloguePet {
  readonly name: string
  readonly categoryId: number
  readonly lowStockAt: number
}

const CATEGORIES = 20
/** Each occurs in the name of one pet in twenty. */
const KINDS = [
  ...['Beagle', 'Collie', 'Retriever', 'Terrier', 'Siamese', 'Shorthair', 'Angora', 'Persian', 'Budgerigar'],
  ...['Cockatiel', 'Finch', 'Tetra', 'Clownfish', 'Goldfish', 'Hamster', 'Rabbit', 'Chinchilla', 'Gecko'],
  ...['Tortoise', 'Ferret'],
]
/** Each occurs in the name of one pet in a hundred. */
const GIVEN_NAMES = ['Ba', 'Du', 'Fi', 'Jo', 'Ke', 'Lu', 'Mi', 'No', 'Wa', 'Zi'].flatMap((first) =>
  ['bo', 'dra', 'ffy', 'lo', 'mka', 'nni', 'ppi', 'ro', 'ska', 'xie'].map((second) => first + second),
)
/** Above every quantity, and below every quantity. */
const [LOW_AT, NOT_LOW_AT] = [10_000, 10]

/** Evenly distributed, and the same in every run. One pet in a hundred is low. */
export function catalogueAt(index: number): CataloguePet {
  return {
    name: `${GIVEN_NAMES[drawn(index, 1, GIVEN_NAMES.length)]} ${KINDS[drawn(index, 2, KINDS.length)]} ${index + 1}`,
    categoryId: 1 + drawn(index, 3, CATEGORIES),
    lowStockAt: drawn(index, 4, 100) === 0 ? LOW_AT : NOT_LOW_AT,
  }
}

/** The queries of each kind of search, one after the other. */
export const SEARCHES = {
  commonWord: KINDS.map((word) => `q=${word}`),
  rareWord: GIVEN_NAMES.map((word) => `q=${word}`),
  category: Array.from({ length: CATEGORIES }, (_, index) => `categoryId=${index + 1}`),
  low: ['low=true'],
} as const

/** Whether a search must find this pet. No word of these names is a prefix of another one. */
export function isFound({ name, categoryId, lowStockAt }: CataloguePet, query: string): boolean {
  const wanted = new URLSearchParams(query)
  const [word, category] = [wanted.get('q'), wanted.get('categoryId')]
  if (word !== null) return name.split(' ').includes(word)
  return category === null ? lowStockAt === LOW_AT : String(categoryId) === category
}

/** A pseudo-random number from 0 up to `below`. */
function drawn(index: number, column: number, below: number): number {
  let bits = Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(column, 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return ((bits ^ (bits >>> 16)) >>> 0) % below
}
