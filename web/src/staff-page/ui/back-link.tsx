import { Icon } from '../../design/icon.tsx'
import { useReadable } from '../data/observable.ts'
import { href, visitedPlaces } from './navigation.ts'

const STOCK = { hash: href({ view: 'stock' }), title: 'Stock' }

/** Leads to the view that the user came from, with its filters; to the stock if the page was opened here. */
export function BackLink() {
  const { hash, title } = useReadable(visitedPlaces).at(-1) ?? STOCK
  return (
    <a className="back-link" href={hash}>
      <Icon name="back" />
      <span className="visually-hidden">Back to </span>
      {title}
    </a>
  )
}
