import type { Webhook } from '../../../shared/domain/partner.ts'
import { putBank } from '../../../shared/store/banks.ts'
import { putCredential } from '../../../shared/store/credentials.ts'
import { putPartner } from '../../../shared/store/partners.ts'
import { putSweepProgress } from '../../../shared/store/sweep-progress.ts'
import { changeWebhook } from '../../../shared/store/webhooks.ts'
import { demoPartner, gcb, NOON } from '../examples.ts'

/** A partner with a webhook, and a bank, under the credentials of the sample events. */
export const plant = async (webhook: Webhook): Promise<void> => {
  const createdAt = NOON.toISOString()
  await Promise.all([
    putBank(gcb),
    putPartner(demoPartner),
    putCredential('sk_sandbox_demo', { kind: 'provider', owner: demoPartner.id, createdAt }),
    putCredential('bt_sandbox_gcb', { kind: 'bank', owner: gcb.identifier, createdAt }),
    changeWebhook(demoPartner.id, () => webhook),
    putSweepProgress({ until: NOON }),
  ])
}
