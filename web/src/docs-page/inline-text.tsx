import type { ReactNode } from 'preact/compat'
import { useContract } from './contract-context.tsx'
import { href } from './page-route.ts'

/** A code span, a link, or the name of an operation such as `GET /catalog`. */
const MARK = /`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)|\b((?:GET|PUT|POST|PATCH|DELETE) \/[\w/{}-]*)/g
const SAFE_ADDRESS = /^(?:#\/|\/(?!\/)|https:\/\/)/

/** Text of the contract, whose little markup becomes elements. */
export function InlineText({ text }: { readonly text: string }) {
  const { operations } = useContract()
  const parts: ReactNode[] = []
  let end = 0
  const addressOf = (link = '', operationName = '') => {
    const operation = operations.find(({ method, path }) => `${method} ${path}` === operationName)
    if (operation !== undefined) return href({ page: 'operations', id: operation.id })
    return SAFE_ADDRESS.test(link) ? link : undefined
  }
  for (const match of text.matchAll(MARK)) {
    const [whole, code, label = whole, link, operationName] = match
    const { index } = match
    parts.push(text.slice(end, index))
    end = index + whole.length
    const address = addressOf(link, operationName)
    if (code !== undefined) parts.push(<code key={index}>{code}</code>)
    else if (address === undefined) parts.push(label)
    else
      parts.push(
        <a key={index} href={address}>
          {label}
        </a>,
      )
  }
  parts.push(text.slice(end))
  return parts
}
