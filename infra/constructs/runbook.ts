import { readFileSync } from 'node:fs'

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')

/**
 * Returns the headings of docs/operations.md#when-an-alarm-rings as Markdown, with links if the docs
 * have an address.
 */
export const runbookText = (address: string | undefined): string => {
  const [chapter = ''] = /^## When an alarm rings$.*?(?=^## )/ms.exec(page) ?? []
  const items = [...chapter.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^a-z -]/g, '')
      .replaceAll(' ', '-')
    return address ? `[${heading}](${address}/operations.md#${anchor})` : heading
  })
  return ['### Runbook: docs/operations.md', items.join(' | ')].join('\n\n')
}
