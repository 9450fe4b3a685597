/**
 * Reports that a bank's client gets wrong. The published rules decide whether the service rejects,
 * rounds or ignores the fault.
 */

type Body = Record<string, unknown>

const text = (change: (body: Body) => Body) => (body: Body) => JSON.stringify(change(body))
const having = (members: Body) => text((body) => ({ ...body, ...members }))

export const malformations = {
  'no bank reference': text(({ bank_reference: _, ...body }) => body),
  'long bank reference': having({ bank_reference: 'B'.repeat(256) }),
  'another status': having({ status: 'COMPLETED' }),
  'no status': text(({ status: _, ...body }) => body),
  'a failure without a message': having({ status: 'failed', error_message: ' ' }),
  'a negative fee': having({ fee: '-0.50' }),
  'a fee in words': having({ fee: 'one cedi' }),
  'an unknown method': having({ approval_method: 'carrier_pigeon' }),
  'metadata above 8 KiB': having({ metadata: { note: 'x'.repeat(9_000) } }),
  'metadata in a list': having({ metadata: [1, 2] }),
  'a list': text((body) => [body] as unknown as Body),
  'cut off': (body: Body) => JSON.stringify(body).slice(0, -3),
  'no JSON': () => 'status=completed',
  'an empty body': () => '',
  // Accepted.
  'a fee of many digits': ({ fee: _, ...body }: Body) =>
    `${JSON.stringify(body).slice(0, -1)},"fee":0.30000000000000004}`,
  'a fee on a tie': having({ fee: '0.1250' }),
  'null members': having({ fee: null, metadata: null }),
  'a method as providers read it': having({ approval_method: 'mobile_app' }),
} satisfies Record<string, (body: Body) => string>

export type Malformation = keyof typeof malformations
export const malformationNames = Object.keys(malformations) as Malformation[]
