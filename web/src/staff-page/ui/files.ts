/** Offers a file for download. The mark at the start makes spreadsheets read it as UTF-8. */
export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob(['\ufeff', text], { type }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}
