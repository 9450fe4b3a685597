import type { Context, SQSEvent } from 'aws-lambda'
import { beforeAll, expect, test, vi } from 'vitest'
import { submitToBank } from '../../functions/jobs/submit-to-bank.ts'
import { environment } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { createDebit } from '../../shared/store/debits/charges.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { gcb, pendingDebit, still } from '../support/examples.ts'
import { sampleEvent } from '../support/running-service.ts'
import { storeBank } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'

beforeAll(useFreshTable)

test.each([undefined, '', 'false', 'TRUE', '1'])(
  'no debit is submitted to the sandbox bank if SANDBOX_BANK is %s',
  async (value) => {
    vi.stubEnv('SANDBOX_BANK', value)
    await storeBank(gcb)
    expect(gcb.connector).toBe('sandbox')
    expect((await findBank(gcb.identifier))?.connector).toBe('none')

    const debit = pendingDebit()
    const { reference } = debit.facts
    await createDebit({ debit, fingerprint: '', dailyLimit: undefined }, still())
    const event = (await sampleEvent('submit-to-bank')) as unknown as SQSEvent
    const [record] = event.Records
    if (record) record.body = JSON.stringify({ reference })
    const { batchItemFailures } = await submitToBank(still())(event, {} as Context)
    expect(batchItemFailures).toHaveLength(1)
    expect((await findDebit(reference))?.status).toBe('pending')
    vi.unstubAllEnvs()
    expect(environment.sandboxBank).toBe(true)
  },
)
