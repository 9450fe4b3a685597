import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, test } from 'vitest'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import { reversalRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { findRefund, refundCreation } from '../../shared/store/debits/refunds.ts'
import { table } from '../../shared/store/table.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { SILENT } from '../support/requests.ts'
import { useService } from '../support/running-service.ts'

/** Reversals, refunds and requests of which a failover lost an item (docs/restore.md#passive-region). */

const service = useService()
useHttpBank(service)

let provider: Provider

beforeAll(async () => {
  provider = await createProvider(service, 'torn')
})

const completed = async (): Promise<Reference> => {
  const fields = { phone_number: SILENT, bank_identifier: 'HTB', amount: '80.00' }
  const charged = await service.chargeUntil('processing', fields, provider.credential)
  const outcome = { status: 'completed', bank_reference: 'HTB-1' }
  await service.report(charged.uuid, outcome, 'bt_sandbox_htb')
  return charged.reference as Reference
}

test('a refund whose reversal is lost is not paid', async () => {
  const reference = await completed()
  const cause = { at: new Date(), by: 'operator:ama', requestId: 'r' }
  const changes = { metadata: { reversal_reason: 'Lost' } }
  const debit = (await findDebit(reference)) as Debit
  const lost = reversalRefund(advance(debit, { ...cause, to: 'reversed', changes }) as Debit)
  await table.send(new PutCommand(refundCreation(lost).Put))
  await service.runJob('refund-customer', { reference })
  expect((await findRefund(reference))?.status).toBe('pending')
})
