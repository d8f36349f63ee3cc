/** Whatever the status: what is sold out is what a shop wants to know first. */
export function isLow({ quantity }: { readonly quantity: number }, atMost: number): boolean {
  return quantity <= atMost
}
