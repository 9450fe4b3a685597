import { expect, test, vi } from 'vitest'
import { rowsOf } from '../support/rows.ts'
import { type Shown, testInProcess, useService } from '../support/running-service.ts'

/** Operator calls that are refused in one line and change nothing, nor request an approval. */

const service = useService()

// The resolver rejects a label of 64 letters without a network request.
const NOWHERE = `https://${'x'.repeat(64)}.test/`
const HOOK = 'provider=demo url=https://x.test/'
const LIMITS = 'update-debit-transaction, list-debit-transactions, debit-callback'
const EITHER = 'either --provider or --bank is required'
const DAYS = 'from=2026-11-21 to=2026-11-21'
const DATE = 'settlement run date'
const FEE = 'provider update provider=demo fee'
const WHOLE = '--settlement-bank, --settlement-account and --settlement-name are required together'
const PAYEE = 'settlement-bank=GCB settlement-account=1041009009 settlement-name=Payer'

/** The words of a call, with its options, and a part of the line. */
const rows = rowsOf(`
  provider destroy  unknown verb
  provider show  --provider: is required
  provider update provider=nobody ${PAYEE}  no such provider
  provider show provider=nobody  no such provider
  provider disable provider=nobody  no such provider
  provider show provider=demo colour=red  --colour: is not an option
  provider create provider=demo name=Again  already exists
  provider update provider=demo daily-limit=5  --daily-limit: 
  provider update provider=demo allow-list=10.0.0.0/33  --allow-list: 
  provider rotate-request-secret provider=nobody  no such provider
  ${FEE}-basis-points=10001  --fee-basis-points: must be a whole number from 0 to 10000
  ${FEE}-fixed=0.1  --fee-fixed: must be an amount like 500.00
  ${FEE}-minimum=1.00 fee-maximum=0.99  --fee-minimum: must not be above the maximum
  provider update provider=demo settlement-bank=ECO  ${WHOLE}
  provider update provider=demo ${PAYEE} settlement-account=none  ${WHOLE}
  provider update provider=demo ${PAYEE} settlement-account=12345  --settlement-account: must be 6 to 20 digits
  provider update provider=demo ${PAYEE} settlement-bank=XYZ  --settlement-bank: no such bank
  provider update provider=demo ${PAYEE} settlement-name=  --settlement-name: is required
  credential issue bank=XXX  no such bank
  credential issue provider=demo expires-on=2020-01-01  --expires-on: has passed
  credential issue provider=demo expires-on=2027-02-30T00:00:00Z  --expires-on: must be a time like
  credential issue provider=demo expires-on=9999-12-31T23:59:59-23:00  --expires-on: must be a time like
  credential issue provider=demo token=sk_live_mine  --token: must not begin like a generated token
  credential issue provider=demo token=sk_sandbox_demo  this token is in use
  credential show token=sk_sandbox_nobody  no such credential
  credential revoke id=${'x'.repeat(43)}  no such credential
  credential revoke id=x  --id: must be an id of 43 characters
  credential list provider=nobody  no such provider
  limit set  ${EITHER}
  limit set provider=demo bank=GCB  ${EITHER}
  limit set provider=nobody daily-limit=none  no such provider
  limit set bank=GCB operation=charge per-minute=5  --operation: must be one of ${LIMITS}
  limit set provider=demo operation=debit-callback per-minute=5  --operation: must be one of charge, 
  limit set provider=demo operation=charge per-minute=0  --per-minute: must be a whole number from 1 to 1000000
  limit set bank=XXX operation=debit-callback per-minute=5  no such bank
  limit show bank=XXX  no such bank
  limit show provider=nobody  no such provider
  bank show bank=XXX  no such bank
  bank disable bank=XXX  no such bank
  bank behave bank=XXX as=down  no such bank
  bank behave bank=UMB as=down  --bank: must have connector sandbox
  bank behave bank=GCB as=asleep  --as: must be one of normal, down, slow, silent, rejecting
  bank behave bank=GCB as=rejecting code=no_money  --code: must be one of insufficient_funds, invalid_account
  bank behave bank=GCB as=normal for=5m  --for: does not apply to normal
  bank behave bank=GCB as=down for=5  --for: must be a duration such as 30s, 6m, 2h or 5d
  bank behave bank=GCB as=down for=999999999d  --for: must be at most 366d
  bank update bank=XXX connector=none  no such bank
  bank create bank=GCB name=Again connector=none  already exists
  connector set bank=XXX connector=none  no such bank
  connector show bank=XXX  no such bank
  connector set bank=GCB connector-url=https://x.test/  applies to connector
  connector remove bank=XXX  no such bank
  bank update bank=SBG connector=http  --connector-url: is required for connector http
  bank update bank=SBG connector=http connector-url=http://bank.test  --connector-url: must use https
  bank update bank=SBG connector=none connector-url=https://bank.test  --connector-url: applies to
  bank update bank=SBG connector=http connector-secret=short  --connector-secret: must be 16 to 200
  bank update bank=SBG connector-secret=cs_secret_of_the_bank  --connector-secret: applies to connector http only
  bank update bank=SBG connector=smtp  --connector: must be one of sandbox, http, none
  webhook set provider=demo url=http://example.com/  --url: must use https
  webhook set provider=demo url=https://u:p@example.com/  --url: must not
  webhook set provider=demo url=https://10.0.0.1/  --url: must not name
  webhook set provider=demo url=https://[2606:4700:4700::1111]/  --url: must have an IPv4
  webhook set provider=demo url=${NOWHERE}  --url: does not resolve
  webhook set ${HOOK} timeout=9  --timeout: 
  webhook set ${HOOK} events=a  --events: 
  webhook set ${HOOK} payload=all  --payload: 
  webhook rotate-secret provider=demo grace-seconds=604801  604800
  webhook rotate-secret provider=demo  this provider has no webhook
  webhook set provider=nobody url=https://x.test/  no such provider
  debit show reference=x  --reference: 
  debit list provider=nobody status=reversed  no such provider
  debit list bank=XXX  no such bank
  change list provider=nobody  no such provider
  change list bank=XXX  no such bank
  customer link bank=XXX phone=+233241234567 name=Ama account-number=1041009009  no such bank
  customer upload bank=XXX rows=[]  no such bank
  customer upload bank=GCB rows=[{}]  --rows: must be a list of accounts
  customer import bank=GCB file=-  --file: is uploaded by the operator command
  debit list uuid=x  --uuid: must be a uuid like
  debit repair provider=nobody date=2026-11-21  no such provider
  debit reverse reference=DCS-20200101-ZZZZZZ reason=x  no such debit
  debit complete reference=DCS-20200101-ZZZZZZ bank-reference=X reason=Y  no such debit
  debit fail reference=DCS-20200101-ZZZZZZ bank-reference=X reason=Y  no such debit
  debit fail-refund reference=DCS-20200101-ZZZZZZ reason=Y  no such debit
  debit reverse reference=DCS-20200101-ZZZZZZ  --reason: is required
  debit reverse reference=DCS-20200101-ZZZZZZ reason=  --reason: 
  debit reverse reference=DCS-20200101-ZZZZZZ reason=${'x'.repeat(201)}  --reason: 
  settlement run  --date: is required
  ${DATE}=2026-02-30  --date: must be a day of the calendar
  debit list from=2026-11-21 to=2199-12-31 provider=nobody  no such provider
  exception list to=2200-01-01  --to: must be in the years 2000 to 2199
  exception refund kind=late_completion bank=XXX ${DAYS}  no such bank
  exception resolve kind=late_completion bank=XXX ${DAYS} note=Returned  no such bank
  exception refund reference=DCS-20200101-ZZZZZZ  no such debit
  exception refund file=-  --file: is uploaded by the operator command
  exception refund kind=contradiction bank=GCB ${DAYS}  --kind: allows no refund
  exception upload rows=[{}]  --rows: must be a list of references
  exception summary month=2200-01  --month: must be in the years 2000 to 2199
  day close date=0001-01-01  --date: must be in the years 2000 to 2199
  reconciliation run date=9899-12-31  --date: must be in the years 2000 to 2199
  ${DATE}=tomorrow  --date: must be a day like
  ${DATE}=2020-01-01 provider=nobody  no such provider
  ${DATE}=2020-01-01 bank=GCB  --bank: is not an option
  ${DATE}=2020-01-01 currency=USD  5003
  settlement list provider=nobody  no such provider
  settlement show batch=STL-20200101-ZZZZZZ  Settlement batch not found (5404)
  settlement report batch=STL-20200101-ZZZZZZ  Settlement batch not found (5404)
  settlement report batch=STL-20200101-ZZZZZZ format=xml  --format: must be one of json
  settlement statement provider=nobody month=2026-11  no such provider
  settlement statement provider=demo month=2026-13  --month: must be a month like 2026-11
  settlement process batch=STL-20200101-ZZZZZZ  Settlement batch not found (5404)
  settlement process batch=DCS-20200101-ZZZZZZ  --batch: must be a batch like
  settlement retry batch=STL-20200101-ZZZZZZ  Settlement batch not found (5404)
  settlement fail batch=STL-20200101-ZZZZZZ reason=Y  Settlement batch not found (5404)
  settlement complete batch=STL-20200101-ZZZZZZ  --bank-reference: is required, --reason: is required
  settlement complete batch=STL-20200101-ZZZZZZ bank-reference=X reason=Y  5404
  reconciliation run  --date: is required
  reconciliation run date=2026-02-30  --date: 
  reconciliation run date=2026-11-21 run=2026-11-20#x  --run: is of another day
  reconciliation statement bank=ZZZ date=2026-11-21 statement={"cursor":null}  no such bank
  reconciliation statement bank=GCB date=2026-11-21 statement=statement.csv  --statement: is compared by
  reconciliation statement bank=GCB date=2026-11-21 statement={"uuids":["x"]}  --statement: is compared by
  reconciliation statement bank=GCB date=2026-11-21 statement={"cursor":{"provider":"nobody","list":"main","after":null}}  --statement: continues a list that is missing
  reconciliation statement bank=GCB date=2026-02-30 statement={"cursor":null}  --date: 
  reconciliation statement bank=GCB date=2026-11-21  --statement: is required
  ledger account ${DAYS} account=nonsense  --account: must be an account
  ledger account ${DAYS} account=cash:GCB  --account: must be an account
  ledger account ${DAYS} account=provider_payable:othr  no such provider
  ledger account ${DAYS} account=bank_receivable:GBC  no such bank
  funding list bank=GBC  no such bank
  funding record bank=NOB amount=5.00 reference=R-3 date=2026-11-21  no such bank
  funding record bank=GCB amount=0.00 reference=R-3 date=2026-11-21  amount
  exception list limit=0  --limit: 
  approval show id=20261122T044107123Z-3f2a9c1e  no such approval
  approval grant id=20261122T044107123Z-3f2a9c1e  no such approval
  approval deny id=20261122T044107123Z-3f2a9c1e  no such approval
`)

const newestChange = async (): Promise<Shown> => (await service.call('change', 'list'))[0]

// All options that do not fit together: test/operator/wrong-use.test.ts.
testInProcess.each(rows)('every stage refuses the call `%s`: %s', async (call = '', line = '') => {
  const [noun = '', verb = '', ...words] = call.split(' ')
  const options = Object.fromEntries(words.map((word) => word.split(/=(.*)/s).slice(0, 2)))
  const before = await newestChange()
  for (const approvals of ['false', 'true']) {
    vi.stubEnv('APPROVALS', approvals)
    const refusal = await service.refusal(noun, verb, options, 'local:ama')
    expect(refusal, approvals).toContain(line)
    expect(refusal).not.toContain('\n')
    expect(await newestChange()).toEqual(before)
  }
})

test('a sandbox refuses its own address as a webhook, also as localhost', async () => {
  const { address } = service.sandbox()
  for (const url of [address, address.replace('127.0.0.1', 'localhost')]) {
    const refusal = await service.refusal('webhook', 'set', { provider: 'demo', url }, 'local:ama')
    expect(refusal).toBe('--url: must not name a host of this service')
  }
})
