import { BulkRuns } from '#components/bulk/bulk-runs'
import { gate } from '../../gate'

export const metadata = { title: 'Bulk runs' }

export default async function BulkRunsPage() {
  await gate('/bulk')
  return <BulkRuns />
}
