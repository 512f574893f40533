import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { slackMessage } from '../../src/notices/slack.js';

describe('a notice for Slack', () => {
  it('has a section for each paragraph, escaped, with titles and commands marked', () => {
    const { text, blocks } = slackMessage({
      subject: 'A & B',
      text: 'It <failed>.\n\nTo put it right:\n  npx relay retry acme c1 0\n  Mail <!channel> & all:\n',
    });
    assert.equal(text, 'A &amp; B');
    assert.deepEqual(
      blocks.map((block) => block.text.text),
      ['A & B', 'It &lt;failed&gt;.', '*To put it right:*\n`npx relay retry acme c1 0`\nMail &lt;!channel&gt; &amp; all:'],
    );
  });

  for (const [what, text] of [
    ['long lines', '<'.repeat(40_000)],
    ['many lines', 'a line & more\n'.repeat(5000)],
    ['many paragraphs', 'paragraph\n\n'.repeat(500)],
    ['surrogate pairs', '😀'.repeat(5000)],
  ] as const)
    it(`stays within Slack's limits with ${what}`, () => {
      const { blocks } = slackMessage({ subject: 's'.repeat(500), text });
      assert.ok(blocks.length <= 50, String(blocks.length));
      for (const block of blocks) {
        assert.ok(block.text.text.length <= (block.type === 'header' ? 150 : 3000));
        assert.ok(block.text.text.length > 0);
        assert.doesNotThrow(() => encodeURIComponent(block.text.text), 'half a surrogate pair');
        assert.doesNotMatch(block.text.text, /&(?!amp;|lt;|gt;)/);
      }
    });
});
