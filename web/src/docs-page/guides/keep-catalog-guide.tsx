import { baseUrlOf, useContract } from '../contract-context.tsx'
import { Paragraph } from '../inline-text.tsx'
import { Heading } from '../page-parts.tsx'
import { CodeTabs } from '../samples/code-tabs.tsx'
import type { Guide } from './guide.ts'
import { keepCatalogSamples } from './keep-catalog-samples.ts'

export const keepCatalogGuide: Guide = {
  id: 'keep-the-catalogue',
  title: 'Keep the catalogue',
  summary: 'Make categories and pets, give them barcodes and thresholds, and hear at once what runs low.',
  keywords:
    'catalogue catalog pet pets category categories barcode ean threshold lowstockat low recovered reorder create rename remove 409 already_exists in_use permission',
  Body,
}

function Body() {
  const samples = keepCatalogSamples(baseUrlOf(useContract()))
  return (
    <>
      <Paragraph text="Whoever keeps the catalogue needs a key with the permission `pets`. All that is made or changed here is in every list at once, and told by [events](#/guides/events)." />
      <Heading>Make a category</Heading>
      <Paragraph text="Its `lowStockAt` counts for all of its pets that have none of their own: such a pet is low while so many or fewer are available, which is what is on the shelf less what is reserved." />
      <CodeTabs label="Samples of a new category" samples={samples.category} />
      <Heading>Make a pet</Heading>
      <Paragraph text="It needs a name and a category that is there. Its entry of the inventory is made with it: status `available` and quantity 0, unless you say otherwise. It gets an id; give one where your other systems know the pet by it." />
      <CodeTabs label="Samples of a new pet" samples={samples.pet} />
      <Paragraph text="A barcode is 1 to 48 visible ASCII characters, such as an EAN-13, and belongs to one pet. An id or a barcode that is taken is 409 `already_exists`, and nothing was made. Sent with an `Idempotency-Key`, a pet is made once, however often you send it." />
      <Heading>Change it</Heading>
      <Paragraph text="PATCH /pets/{petId} changes what you name and leaves the rest: name, category, status, barcode, threshold. `null` takes a barcode or a threshold away. The quantity has operations of its own: [Change stock safely](#/guides/change-stock-safely)." />
      <CodeTabs label="Samples of another threshold" samples={samples.change} />
      <Heading>Hear what runs low</Heading>
      <Paragraph text="Each time a pet reaches its threshold there is one event `low`, and one `recovered` when more are available again, whatever made it so: a sale, an order, a delivery, another threshold. For each pet the two alternate, so nobody orders twice because of one that is low for days." />
      <CodeTabs label="Samples of following what is low" samples={samples.follow} />
      <Heading>Remove it</Heading>
      <Paragraph text="DELETE /pets/{petId} removes a pet with its entry; its history stays. While orders of it are open, that is 409 `in_use`: complete or cancel them first. A category goes the same way once it has no pets." />
    </>
  )
}
