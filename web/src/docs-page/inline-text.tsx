import type { ReactNode } from 'preact/compat'
import { useContract } from './contract-context.tsx'
import { href } from './page-route.ts'

/** A code span, a link, or the name of an operation such as `GET /pets`. */
const MARK = /`([^`]+)`|\[([^\]]+)\]\(([^)\s]+)\)|\b((?:GET|PUT|POST|PATCH|DELETE) \/[\w/{}-]*)/g
const SAFE_ADDRESS = /^(?:#\/|\/(?!\/)|https:\/\/)/

/** Text of the contract, whose little markup becomes elements. */
export function InlineText({ text }: { readonly text: string }) {
  const contract = useContract()
  const parts: ReactNode[] = []
  let done = 0
  for (const match of text.matchAll(MARK)) {
    const [whole, code, label, address, operationName] = match
    if (match.index > done) parts.push(text.slice(done, match.index))
    done = match.index + whole.length
    const named = contract.operations.find(({ method, path }) => `${method} ${path}` === operationName)
    if (code !== undefined) parts.push(<code key={match.index}>{code}</code>)
    else if (address !== undefined && SAFE_ADDRESS.test(address)) {
      parts.push(
        <a key={match.index} href={address}>
          {label}
        </a>,
      )
    } else if (named !== undefined) {
      parts.push(
        <a key={match.index} href={href({ page: 'operation', id: named.id })}>
          {operationName}
        </a>,
      )
    } else parts.push(label ?? whole)
  }
  parts.push(text.slice(done))
  return parts
}
