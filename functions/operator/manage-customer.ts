import * as v from 'valibot'
import type { CustomerAccount } from '../../shared/domain/banks/bank.ts'
import { parseJson } from '../../shared/domain/json.ts'
import type { BulkId } from '../../shared/domain/operator/bulk.ts'
import { invalid, Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { accountRecorder } from '../../shared/operator/account-record.ts'
import { eraseCustomer, refusalToErase } from '../../shared/operator/customer-erasure.ts'
import {
  ImportRows,
  importScope,
  runImport,
  uploadRows,
} from '../../shared/operator/customer-import.ts'
import { noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { customer } from '../../shared/operator/nouns/banks.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import {
  findAccount,
  findBank,
  listAccounts,
  putAccount,
  removeAccount,
} from '../../shared/store/banks/banks.ts'
import { accountView as view } from '../../shared/views/operator/customer.ts'

const scopeOf = async (bulk: BulkId | undefined, runtime: Runtime) =>
  bulk ? importScope(bulk, runtime) : invalid({ file: ['is uploaded by the operator command'] })

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
    check: async ({ bank }) => (await findBank(bank)) ?? noSuch('bank'),
  },
  import: {
    run: async ({ bank, bulk }, author, runtime) => {
      const scope = author.scope ?? (await scopeOf(bulk, runtime))
      return scope instanceof Refusal ? scope : runImport(scope, bank, author, runtime)
    },
    check: async ({ bank }) => (await findBank(bank)) ?? noSuch('bank'),
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
  erase: { run: eraseCustomer, check: refusalToErase },
})

export const handler = manageCustomer(real)
