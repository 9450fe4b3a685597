import type { Fault } from '../mutant.ts'

/** The bytes that are sent, and the signature over them. */

const signature = { area: 'signing', file: 'shared/webhooks/http/signature.ts' } as const
const sent = { area: 'signing', file: 'shared/webhooks/send.ts' } as const

const place = 'prefix + hmac(secret, signed.body)'

export const signing: readonly Fault[] = [
  {
    ...sent,
    name: 'body-spelled-out-for-readers',
    from: 'body: JSON.stringify(event.payload(webhook)),',
    to: 'body: JSON.stringify(event.payload(webhook), null, 2),',
    invariants: [18],
    needs: 'any webhook',
  },
  {
    ...signature,
    name: 'signed-as-it-is-parsed',
    from: place,
    to: 'prefix + hmac(secret, JSON.stringify(JSON.parse(signed.body)))',
    invariants: [18],
    needs: 'a webhook about an amount that ends in 0',
  },
  {
    ...signature,
    name: 'signed-with-the-decoded-secret',
    from: place,
    to: "prefix + hmac(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'), signed.body)",
    invariants: [18],
    needs: 'any webhook',
  },
  {
    ...signature,
    name: 'signature-in-capitals',
    from: ".digest('hex')",
    to: ".digest('hex').toUpperCase()",
    invariants: [18],
    needs: 'any webhook',
  },
  {
    ...signature,
    name: 'signed-as-latin-text',
    from: ".update(text, 'utf8')",
    to: ".update(text, 'latin1')",
    invariants: [18],
    needs: 'a narration or metadata with a letter outside ASCII',
  },
  {
    ...signature,
    name: 'time-signed-with-the-body',
    from: place,
    to: 'prefix + hmac(secret, `${timestamp}.${signed.body}`)',
    invariants: [18],
    needs: 'any webhook',
  },
]
