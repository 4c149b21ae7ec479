import { Text } from '@mantine/core';
import { formatMoney } from '../../format.ts';
import type { Order } from './order-queries.ts';

/** What the order comes to, as the site reported it. */
export function AmountsTable({ order }: { order: Order }) {
  const { currency, total_amount: total, subtotal_amount: subtotal } = order;
  const lineDiscounts = order.lines.reduce((sum, line) => sum + (line.discount_amount ?? 0), 0);
  const discounts = lineDiscounts + (order.discount_amount ?? 0);
  const rows: [label: string, amount: number | null][] = [
    ['Subtotal', subtotal],
    ['Discounts', discounts === 0 ? null : -discounts],
    ['Shipping', order.shipping_amount],
    ['Tax', order.tax_amount === 0 ? null : order.tax_amount],
  ];
  if (total === null) {
    return (
      <Text size="sm" c="dimmed" className="order-amounts">
        The site did not report every price, so there is no total. All amounts are in {currency}.
      </Text>
    );
  }
  return (
    <table className="order-amounts figures">
      <tbody>
        {rows.map(([label, amount]) =>
          amount === null ? null : (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{formatMoney(amount, currency)}</td>
            </tr>
          ),
        )}
        <tr data-total>
          <th scope="row">Total</th>
          <td>{formatMoney(total, currency)}</td>
        </tr>
      </tbody>
    </table>
  );
}
