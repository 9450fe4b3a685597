import { expectParts, Mismatch } from '../expect.ts'
import { type Api, expectReply, findIn, paths } from './api.ts'
import { BANK_SECONDS, chargeBody, sendCharge } from './charges.ts'
import type { RunCheck, Smoke } from './checks.ts'

/** Checks of reads and refusals. */

const BODY_MAX_BYTES = 64 * 1024
const GATEWAY_MAX_BYTES = 10 * 1024 * 1024
const UNKNOWN_UUID = '00000000-0000-4000-8000-000000000000'

const error = (code: number) => ({ success: false, error: { code } })

/** Run in sequence, because an account may allow only ten concurrent functions. */
export const checkRequests = async (smoke: Smoke): Promise<void> => {
  const { check, within, api, objects, receiver } = smoke
  const { token, bankToken, signing, phone, bank } = objects
  const charge = (body: object | string) => ({ path: paths.charge, token, body })
  const signedRequest = (signingSecret: string) => ({
    path: `${paths.debits}?per_page=1`,
    token: signing.token,
    signingSecret,
  })
  const hasBank = (path: string) =>
    within(BANK_SECONDS, async () => findIn(await api.read(path, token), { identifier: bank }))

  const checks: Record<string, () => Promise<unknown>> = {
    'missing-credential': () => api.expect({ path: paths.debits }, 401, error(1401)),
    'wrong-credential': () =>
      api.expect({ path: paths.debits, token: `${token.slice(0, -1)}!` }, 401, error(1401)),
    'unknown-path': () => api.expect({ path: '/api/v1/smoke' }, 404, error(1404)),
    'wrong-method': async () => {
      const request = { method: 'DELETE', path: paths.charge } as const
      const { headers } = await api.expect(request, 405, error(1405))
      expectParts({ Allow: headers.get('Allow') }, { Allow: 'POST' })
    },
    'unknown-debit': () =>
      api.expect({ path: paths.debit('DCS-20200101-AAAAAA'), token }, 404, error(3404)),
    'malformed-body': () => api.expect(charge('{"amount": 1.00,'), 400, error(1400)),
    'large-body': () => api.expect(charge(jsonOf(BODY_MAX_BYTES + 1)), 400, error(1400)),
    // The gateway can close the connection before the whole body is sent.
    'body-above-gateway-limit': () =>
      within(10, () => {
        const body = jsonOf(GATEWAY_MAX_BYTES + 1)
        return api.expect({ ...charge(body), fromGateway: true }, 413, error(1400))
      }),
    'amount-without-decimals': () =>
      api.expect(charge(chargeBody(objects, { amount: 100 })), 400, error(3007)),
    banks: () => hasBank(paths.banks),
    'webhook-ping': () =>
      api.expect({ method: 'POST', path: paths.ping, token }, 200, {
        data: { event: 'ping', ...(receiver && { delivered: true }) },
      }),
    signature: () => api.expect(signedRequest(signing.secret), 200, { success: true }),
    'wrong-signature': () => api.expect(signedRequest(`${signing.secret}x`), 401, error(1401)),
    ...(bankToken && bankTokenChecks(api, bankToken)),
    ...(objects.hasCustomer && {
      'lookup-with-plus': () => hasBank(`${paths.banks}/lookup/${phone}`),
      'lookup-with-percent-2b': () => hasBank(`${paths.banks}/lookup/${phone.replace('+', '%2B')}`),
    }),
    ...(objects.movesMoney ? {} : unconnectedChecks(smoke)),
  }
  for (const [name, run] of Object.entries(checks)) await check(name, run)
}

const bankTokenChecks = (api: Api, token: string) => ({
  'bank-token-at-provider-operation': () =>
    api.expect({ path: paths.debits, token }, 401, error(1401)),
  'unknown-transaction': () => {
    const body = { status: 'completed', bank_reference: 'SMOKE', approval_method: 'ussd' }
    return api.expect({ path: paths.update(UNKNOWN_UUID), token, body }, 404, error(1404))
  },
})

/** Checks of a stage whose banks have no connector. */
const unconnectedChecks = (smoke: Smoke) => ({
  'bank-without-connector': async () =>
    expectReply(await sendCharge(smoke, chargeBody(smoke.objects)), 503, error(2003)),
  'empty-lists': async () => {
    const { token } = smoke.objects
    for (const path of [paths.debits, paths.events, paths.settlements])
      await smoke.api.expect({ path, token }, 200, { data: [] })
  },
})

/** Returns a JSON document of the given length in bytes. */
const jsonOf = (bytes: number): string => `{"narration":"${'x'.repeat(bytes - 16)}"}`

/** Fails with the first reply that lacks the published form. */
export const checkReplyForm = (check: RunCheck, { problems }: Api) =>
  check('envelope-and-headers', async () => {
    const [first, ...others] = problems
    if (!first) return
    const rest = others.length > 0 ? ` (and ${others.length} more)` : ''
    throw new Mismatch('envelope, X-Request-ID and rate headers in every reply', first + rest)
  })
