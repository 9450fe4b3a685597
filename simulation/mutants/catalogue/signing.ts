import { type Mutant, mutantsOf } from '../mutant.ts'

/** The posted bytes and their signature. */

const place = 'prefix + hmac(secret, signed.body)'

export const signing: readonly Mutant[] = [
  ...mutantsOf('signing', 'shared/webhooks/send.ts', [
    {
      name: 'body-spelled-out-for-readers',
      from: 'body: JSON.stringify(event.payload(webhook)),',
      to: 'body: JSON.stringify(event.payload(webhook), null, 2),',
      invariants: [18],
      needs: 'any webhook',
    },
  ]),
  ...mutantsOf('signing', 'shared/webhooks/http/signature.ts', [
    {
      name: 'signed-as-it-is-parsed',
      from: place,
      to: 'prefix + hmac(secret, JSON.stringify(JSON.parse(signed.body)))',
      invariants: [18],
      needs: 'a webhook about an amount that ends in 0',
    },
    {
      name: 'signed-with-the-decoded-secret',
      from: place,
      to: "prefix + hmac(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'), signed.body)",
      invariants: [18],
      needs: 'any webhook',
    },
    {
      name: 'signature-in-capitals',
      from: ".digest('hex')",
      to: ".digest('hex').toUpperCase()",
      invariants: [18],
      needs: 'any webhook',
    },
    {
      name: 'signed-as-latin-text',
      from: ".update(text, 'utf8')",
      to: ".update(text, 'latin1')",
      invariants: [18],
      needs: 'a narration or metadata with a letter outside ASCII',
    },
    {
      name: 'time-signed-with-the-body',
      from: place,
      to: 'prefix + hmac(secret, `${timestamp}.${signed.body}`)',
      invariants: [18],
      needs: 'any webhook',
    },
  ]),
]
