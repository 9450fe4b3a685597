/** Sections of docs/operations.md for a person who reads the dashboard. */
export const runbookSections = [
  'When an alarm rings',
  'Dead letters',
  'The stream is late, or lost',
  'A bank is down',
  'A bank report was rejected, or a refund failed',
  "A bank's requests are refused",
  "A provider's endpoint is down",
  'The firewall blocks a provider',
  'Settlement',
  'Reconciliation differs',
  'Restore',
  'Limits to raise first',
]

/** Returns the sections as Markdown, as links if the docs have an address. */
export const runbookText = (address: string | undefined): string => {
  const items = runbookSections.map((section) => {
    const anchor = section
      .toLowerCase()
      .replaceAll(/[^a-z -]/g, '')
      .replaceAll(' ', '-')
    return address ? `[${section}](${address}/operations.md#${anchor})` : section
  })
  return ['### Runbook: docs/operations.md', items.join(' | ')].join('\n\n')
}
