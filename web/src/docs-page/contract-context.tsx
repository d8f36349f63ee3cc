import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { Contract } from './contract.ts'
import type { OpenApiDocument } from './openapi-document.ts'

const ContractContext = createContext<Contract | undefined>(undefined)

export type ContractState =
  | { readonly phase: 'loading' }
  | { readonly phase: 'ready'; readonly contract: Contract }
  | { readonly phase: 'failed'; readonly reason: string }

/** The contract of the very service that serves this page. `reload` asks again after a failure. */
export function useContractState(): ContractState & { readonly reload: () => void } {
  const [state, setState] = useState<ContractState>({ phase: 'loading' })
  const [attempt, setAttempt] = useState(0)

  useEffect(() => {
    let isWanted = true
    setState({ phase: 'loading' })
    loadContract().then(
      (contract) => isWanted && setState({ phase: 'ready', contract }),
      (error: unknown) => isWanted && setState({ phase: 'failed', reason: reasonOf(error) }),
    )
    return () => {
      isWanted = false
    }
  }, [attempt])
  return { ...state, reload: () => setAttempt((count) => count + 1) }
}

async function loadContract(): Promise<Contract> {
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`the service answered ${response.status} to /openapi.json`)
  return new Contract((await response.json()) as OpenApiDocument)
}

function reasonOf(error: unknown): string {
  if (error instanceof TypeError) return 'the service cannot be reached'
  return error instanceof Error ? error.message : String(error)
}

export function ContractProvider({
  contract,
  children,
}: {
  readonly contract: Contract
  readonly children: ReactNode
}) {
  return <ContractContext value={contract}>{children}</ContractContext>
}

/** Inside of a `ContractProvider` only. */
export function useContract(): Contract {
  const contract = useContext(ContractContext)
  if (contract === undefined) throw new Error('useContract needs a ContractProvider around it')
  return contract
}

/** Where this service answers: what a reader copies from here works as it is. */
export function baseUrlOf(contract: Contract): string {
  return `${location.origin}/${contract.versionSegment}`
}
