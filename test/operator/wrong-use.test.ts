import { expect, test } from 'vitest'
import { Refusal } from '../../shared/domain/refusal.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import { explain, parseCall } from '../../shared/operator/verbs.ts'
import { rowsOf } from '../support/rows.ts'

/** Calls that the command refuses by itself, with exit code 2, because options do not fit together. */
const rows = rowsOf(`
  credential issue  either --provider or --bank is required
  credential issue provider=demo bank=GCB  either --provider or --bank is required
  credential list  either --provider or --bank is required
  credential show  either --id or --token is required
  credential revoke id=${'x'.repeat(43)} token=y  either --id or --token is required
  limit show  either --provider or --bank is required
  limit set provider=demo  name --daily-limit, or --operation and --per-minute
  limit set provider=demo operation=charge  --per-minute: is required with --operation
  limit set bank=GCB per-minute=5  --operation: is required with --per-minute
  limit set bank=GCB daily-limit=1.00  --daily-limit: applies to providers only
  provider create provider=acme name=Acme settlement-bank=GCB  are required together
  provider update provider=demo settlement-account=none settlement-bank=GCB  are required together
  bank create bank=XYZ name=XYZ connector=http  --connector-url: is required for connector http
  bank update bank=GCB ussd-code=\u202e  --ussd-code: must be a USSD code, such as *422#
  bank update bank=GCB package-name=${'x'.repeat(151)}  --package-name: must be a package name
  bank behave bank=GCB as=down code=timeout  --code: applies to rejecting only
  delivery list  --reference or --provider is required
  exception refund reference=DCS-20261121-ABC123 kind=refund  --kind: belongs to --bank, --from and --to
  exception refund file=x kind=refund  --kind: belongs to --bank, --from and --to
  change list provider=demo bank=GCB  name one of --provider, --bank and --phone
  change verify from=2026-11-02 to=2026-11-01  --to: must not be before --from
  approval list from=2026-11-02 to=2026-11-01  --to: must not be before --from
  change list from=2026-11-02 to=2026-11-01  --to: must not be before --from
  exception list from=2026-11-02 to=2026-11-01  --to: must not be before --from
  exception refund kind=refund bank=GCB from=2026-11-02 to=2026-11-01  --to: must not be before --from
  funding list from=2026-11-02 to=2026-11-01  --to: must not be before --from
  ledger account account=cash from=2026-11-02 to=2026-11-01  --to: must not be before --from
  settlement list from=2026-11-02 to=2026-11-01  --to: must not be before --from
  debit list from=2026-11-02 to=2026-11-01  --to: must not be before --from
`)

test.each(rows)('the command refuses `%s` as a wrong use: %s', (call = '', line = '') => {
  const [noun = '', verb = '', ...words] = call.split(' ')
  const options = Object.fromEntries(words.map((word) => word.split('=')))
  const row = Object.entries(nouns).find(([name]) => name === noun)?.[1]
  const parsed = row && parseCall(row, { verb, options })
  expect(parsed).toBeInstanceOf(Refusal)
  expect(explain(parsed as Refusal)).toContain(line)
})
