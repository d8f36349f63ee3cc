export interface HistoryRow {
  readonly before: number
  readonly after: number
  readonly reason?: string
  readonly reference?: string
}

/** A running service, as a caller with a key sees it. */
export interface Caller {
  readonly address: string
  readonly key: string
}

/** The whole history of a pet, oldest first. */
export async function readHistory({ address, key }: Caller, petId: number): Promise<HistoryRow[]> {
  const rows: HistoryRow[] = []
  let path: string | undefined = `/inventory/${petId}/history?limit=100`
  while (path !== undefined) {
    const response: Response = await fetch(`${address}/v1${path}`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`)
    rows.push(...((await response.json()) as HistoryRow[]))
    path = /<[^>]*?\/v1(\/[^>]+)>; rel="next"/.exec(response.headers.get('Link') ?? '')?.[1]
  }
  return rows.reverse()
}
