import * as v from 'valibot'
import type { BankIdentifier, CustomerAccount } from '../../shared/domain/banks/bank.ts'
import { parseJson } from '../../shared/domain/json.ts'
import { callObject } from '../../shared/domain/operator/approval.ts'
import type { BulkId } from '../../shared/domain/operator/bulk.ts'
import { invalid, Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { accountRecorder } from '../../shared/operator/account-record.ts'
import { debitsOf } from '../../shared/operator/customer-debits.ts'
import { eraseCustomer, refusalToErase } from '../../shared/operator/customer-erasure.ts'
import {
  ImportRows,
  importScope,
  runImport,
  uploadRows,
} from '../../shared/operator/customer-import.ts'
import { noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { customer } from '../../shared/operator/nouns/customers.ts'
import { pageOf } from '../../shared/operator/pages.ts'
import { refusalToRepeat, repeatErasures } from '../../shared/operator/repeated-erasures.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { readReport, writeReport } from '../../shared/settlement/report/bucket.ts'
import {
  findAccount,
  findBank,
  listAccounts,
  putAccount,
  removeAccount,
} from '../../shared/store/banks/banks.ts'
import { responsesIn } from '../../shared/store/debits/erasure.ts'
import { accessPages } from '../../shared/store/operator/accesses.ts'
import { putChange } from '../../shared/store/operator/changes.ts'
import { customerHasher, findCustomerHash } from '../../shared/store/operator/customer-hash.ts'
import {
  accessView,
  customerExportView,
  accountView as view,
} from '../../shared/views/operator/customer.ts'

/** Characters. The command downloads a longer document from S3. */
const REPLY_MAX = 1_000_000

const downloaded = async (text: string, call: string): Promise<{ download: string }> => {
  const object = { export: call }
  await writeReport(object, 'json', [text])
  const written = await readReport(object, 'json', 0)
  if (!written || !('download' in written)) throw new Error(`The export ${call} is gone`)
  return written
}

const scopeOf = async (bulk: BulkId | undefined, runtime: Runtime) =>
  bulk ? importScope(bulk, runtime) : invalid({ file: ['is uploaded by the operator command'] })

const checkBankOf = async ({ bank }: { bank: BankIdentifier }) =>
  (await findBank(bank)) ? callObject({ bank }) : noSuch('bank')

export const manageCustomer = operatorHandler(customer, {
  link: {
    run: async ({ phone, bank, name, status, ...options }, author, runtime) => {
      if (!(await findBank(bank))) return noSuch('bank')
      const account: CustomerAccount = {
        customerName: name,
        accountNumber: options['account-number'],
        accountType: options['account-type'],
        status,
      }
      const record = await accountRecorder(phone, bank, author, runtime)
      await putAccount(phone, bank, account, record, runtime)
      return view(phone, bank, account)
    },
    check: checkBankOf,
  },
  import: {
    run: async ({ bank, bulk }, author, runtime) => {
      const scope = author.scope ?? (await scopeOf(bulk, runtime))
      return scope instanceof Refusal ? scope : runImport(scope, bank, author, runtime)
    },
    check: checkBankOf,
    scope: ({ bulk }, _, runtime) => scopeOf(bulk, runtime),
  },
  upload: async ({ bank, bulk: known, n, rows, refused }, { id, at }) => {
    if (!(await findBank(bank))) return noSuch('bank')
    const parsed = v.safeParse(ImportRows, parseJson(rows))
    if (!parsed.success) return invalid({ rows: ['must be a list of accounts'] })
    const bulk = known ?? (id as BulkId)
    await uploadRows({ bulk, n, refused }, parsed.output, bank, at)
    return { bulk }
  },
  show: async ({ phone, bank }) =>
    unlessRefused((await findAccount(phone, bank)) ?? noSuch('account'), (account) =>
      view(phone, bank, account),
    ),
  list: async ({ phone }) =>
    (await listAccounts(phone)).map(({ bank, account }) => view(phone, bank, account)),
  unlink: async ({ phone, bank }, author, runtime) => {
    const record = await accountRecorder(phone, bank, author, runtime)
    const removed = await removeAccount(phone, bank, record, runtime)
    return removed ? { unlinked: true } : noSuch('account')
  },
  erase: {
    run: eraseCustomer,
    check: async (...call) => (await refusalToErase(...call)) ?? callObject({}),
  },
  'repeat-erasures': {
    run: repeatErasures,
    check: async (options, author) => (await refusalToRepeat(options, author)) ?? callObject({}),
  },
  export: async ({ phone }, author, runtime) => {
    const hash = await customerHasher(runtime)
    const customer = hash(phone)
    const [accounts, debits] = await Promise.all([listAccounts(phone), debitsOf(phone)])
    await putChange({ ...author, target: customer, customer }, { debits: debits.length })
    const exported = debits.map((whole) => ({ ...whole, responses: responsesIn(whole) }))
    const document = customerExportView(phone, accounts, exported)
    const text = JSON.stringify(document)
    return text.length <= REPLY_MAX ? document : downloaded(text, author.id)
  },
  accesses: async (options, _, runtime) => {
    const customer = await findCustomerHash(options.phone)
    if (!customer) return []
    return pageOf('customer accesses', options, runtime, {
      read: (span) => accessPages(customer, span),
      keyOf: ({ key }) => key,
      viewOf: ({ access }) => accessView(access),
    })
  },
})

export const handler = manageCustomer(real)
