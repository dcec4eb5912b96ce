import { Notice } from '#components/shell/notice'

export const metadata = { title: 'Not found' }

export default function NotFound() {
  return (
    <Notice title="There is no such page">Nothing is wrong with Switchboard. Perhaps the address was cut short.</Notice>
  )
}
