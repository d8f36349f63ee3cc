import type { Page } from 'playwright-core'

/**
 * Reloads the page once what it has just changed is in its outbox. A person is not as fast as a test, which would close the page
 * before the browser has written the change.
 */
export async function reloadKept(page: Page): Promise<void> {
  // The outbox writes one change after the other, so at most two are on their way.
  for (let round = 0; round < 2; round++) await page.evaluate(writeNothing)
  await page.reload()
}

async function writeNothing(): Promise<void> {
  const databases = await indexedDB.databases()
  await Promise.all(
    databases.map(
      ({ name = '' }) =>
        new Promise<void>((resolve, reject) => {
          const opening = indexedDB.open(name)
          opening.onerror = () => reject(opening.error)
          opening.onsuccess = () => {
            const { result } = opening
            // Transactions that write are run in the order in which they were created.
            const transaction = result.transaction([...result.objectStoreNames], 'readwrite')
            transaction.oncomplete = () => {
              result.close()
              resolve()
            }
          }
        }),
    ),
  )
}
