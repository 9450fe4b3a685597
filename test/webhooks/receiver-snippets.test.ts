import { expect, test } from 'vitest'
import { deliveries, snippetOf } from '../support/signed-deliveries.ts'

// Runs the Node snippet of docs/webhooks.md.

type Verify = (headers: Record<string, string>, body: Buffer, secret: string) => boolean

const module = `data:text/javascript,${encodeURIComponent(snippetOf('js'))}`
const { isGenuine } = (await import(module)) as { isGenuine: Verify }

test.each(deliveries())(
  'a delivery with %s verifies: %s',
  (_, isAccepted, headers, text, secret) => {
    expect(isGenuine(headers, Buffer.from(text), secret)).toBe(isAccepted)
  },
)
