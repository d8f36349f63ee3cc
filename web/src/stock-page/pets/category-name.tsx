import { useSession } from '../session/session-context.ts'
import { useReadable } from '../stock/observable.ts'
import { categoryName } from './category-list.ts'

/** What a category is called, as soon as that is known. */
export function CategoryName({ id }: { readonly id: bigint | undefined }) {
  return categoryName(useReadable(useSession().categories), id)
}
