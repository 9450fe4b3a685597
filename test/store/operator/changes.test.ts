import { beforeEach, expect, test } from 'vitest'
import { approvalId } from '../../../shared/domain/operator/approval.ts'
import { keys } from '../../../shared/store/keys.ts'
import { changeWrites } from '../../../shared/store/operator/changes.ts'
import { put } from '../../../shared/store/table.ts'
import { transact } from '../../../shared/store/transactions.ts'
import { NOON, still } from '../../support/examples.ts'
import { useFreshTable } from '../../support/tables.ts'

/** Records of operators' changes (docs/api.md#changes). */

beforeEach(useFreshTable)

test('a granted request changes something once, though two workers carry it out', async () => {
  const approval = approvalId(NOON, '3f2a9c1e')
  await put(keys.approval(approval), 'approval', { id: approval })
  const call = { at: NOON, by: 'ama', approvedBy: 'kofi', noun: 'bank', verb: 'update', approval }
  const change = (id: string) =>
    transact(changeWrites({ ...call, id, target: 'GCB' }, {}, { name: id }), still())
  expect([await change('first'), await change('second')]).toEqual([true, false])
})
