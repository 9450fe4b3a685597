import { expect, test } from 'vitest'
import { SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'
import { useSubscriber } from '../support/subscriber.ts'

/** The lists and views of the operator command that span providers. */

const service = useService({ timeScale: 60 })
