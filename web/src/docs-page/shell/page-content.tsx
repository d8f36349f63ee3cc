import type { Contract } from '../contract.ts'
import { useContract } from '../contract-context.tsx'
import { GUIDES } from '../guides/guide-list.ts'
import { GuidePage } from '../guides/guide-page.tsx'
import { PageProvider } from '../page-parts.tsx'
import { href, type PageRoute } from '../page-route.ts'
import { OperationPage } from '../reference/operation-page.tsx'
import { SchemaPage } from '../reference/schema-page.tsx'
import { StartPage } from './start-page.tsx'

/** What the address names. */
export function PageContent({ route }: { readonly route: PageRoute | undefined }) {
  if (route === undefined) return <NothingHere />
  return (
    <PageProvider value={route}>
      <Page route={route} />
    </PageProvider>
  )
}

function Page({ route }: { readonly route: PageRoute }) {
  const contract = useContract()
  if (route.page === 'start') return <StartPage />
  if (route.page === 'guide') {
    const guide = GUIDES.find(({ id }) => id === route.id)
    return guide === undefined ? <NothingHere /> : <GuidePage guide={guide} />
  }
  if (route.page === 'schema') {
    const schema = contract.schemas.get(route.id)
    return schema === undefined ? <NothingHere /> : <SchemaPage name={route.id} schema={schema} />
  }
  const operation = contract.operation(route.id)
  return operation === undefined ? (
    <NothingHere />
  ) : (
    <OperationPage key={operation.id} operation={operation} />
  )
}

function NothingHere() {
  return (
    <div className="empty">
      <h1 className="empty__title">There is nothing at this address</h1>
      <p>It may be mistyped, or the operation has another name now.</p>
      <a className="button" href={href({ page: 'start' })}>
        Go to the start
      </a>
    </div>
  )
}

/** What the tab is called. */
export function titleOf(contract: Contract, route: PageRoute | undefined): string {
  return [nameOf(contract, route), `${contract.title} API`].filter(Boolean).join(' · ')
}

function nameOf(contract: Contract, route: PageRoute | undefined): string | undefined {
  if (route === undefined) return 'Nothing here'
  if (route.page === 'start') return undefined
  if (route.page === 'guide') return GUIDES.find(({ id }) => id === route.id)?.title
  return route.page === 'operation' ? contract.operation(route.id)?.summary : route.id
}
