import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plainError, shownError } from '../../dashboard/src/pages/deliveries/attempts/plain-error.ts';

describe('the error of an attempt on the pages', () => {
  it('is told in plain words, whatever wrote it', () => {
    for (const [error, short] of [
      [
        'DEPTH_ZERO_SELF_SIGNED_CERT: self-signed certificate; try running Node.js with --use-system-ca',
        'TLS certificate',
      ],
      ['CERT_HAS_EXPIRED: certificate has expired', 'TLS certificate'],
      ['CERT_NOT_YET_VALID: certificate is not yet valid', 'TLS certificate'],
      ['ERR_SSL_WRONG_VERSION_NUMBER: SSL routines', 'TLS failed'],
      ['ENOTFOUND: getaddrinfo ENOTFOUND shop.example', 'Unknown host'],
      ['ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1', 'Refused'],
      ['ERR_FORBIDDEN_ADDRESS: shop.example leads to an address that webhooks may not go to', 'Private address'],
      ['no complete response within 10 s', 'Too slow'],
      ['UND_ERR_SOCKET: other side closed', 'Cut off'],
    ] as const) {
      const plain = plainError(error);
      assert.equal(plain.short, short, error);
      assert.ok(plain.advice !== null);
      assert.equal(plain.sentence.includes('Node'), false);
    }
  });

  it('stays as it is if nobody knows it', () => {
    assert.deepEqual(plainError('ODD: something'), {
      short: 'No answer',
      sentence: 'ODD: something',
      advice: null,
      isSent: null,
    });
  });

  it('says whether anything was sent, and leaves out what Node.js tells its operator', () => {
    assert.equal(plainError('ECONNREFUSED: connect ECONNREFUSED 127.0.0.1:1').isSent, false);
    assert.equal(plainError('CERT_HAS_EXPIRED: certificate has expired').isSent, false);
    assert.equal(plainError('no complete response within 10 s').isSent, true);
    assert.equal(
      shownError('DEPTH_ZERO_SELF_SIGNED_CERT: self-signed certificate; try running Node.js with --use-system-ca'),
      'DEPTH_ZERO_SELF_SIGNED_CERT: self-signed certificate',
    );
  });
});
