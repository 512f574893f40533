import java.io.*;
import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.*;

/**
 * Formats times with the JDK. Each line of standard input is a case: `epochMillis TAB zone TAB pattern`. Standard output has one
 * line for each case: `SimpleDateFormat TAB text`, `DateTimeFormatter TAB text`, `unprintable` (the formatter fails at this
 * instant) or `rejected`.
 */
public class Oracle {
  public static void main(String[] args) throws IOException {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)), false, StandardCharsets.UTF_8);
    for (String line; (line = in.readLine()) != null; ) {
      var parts = line.split("\t", 3);
      out.print(answer(Instant.ofEpochMilli(Long.parseLong(parts[0])), ZoneId.of(parts[1]), parts[2]) + "\n");
    }
    out.flush();
  }

  static String answer(Instant instant, ZoneId zone, String pattern) {
    try {
      var format = new SimpleDateFormat(pattern, Locale.US);
      format.setTimeZone(TimeZone.getTimeZone(zone));
      return "SimpleDateFormat\t" + format.format(Date.from(instant));
    } catch (IllegalArgumentException rejected) {
      // Try DateTimeFormatter next.
    }
    DateTimeFormatter formatter;
    try {
      formatter = DateTimeFormatter.ofPattern(pattern, Locale.US);
    } catch (RuntimeException rejected) { // IllegalArgumentException, or ClassCastException if a padded number is directly before another number
      return "rejected";
    }
    try {
      return "DateTimeFormatter\t" + formatter.format(instant.atZone(zone));
    } catch (RuntimeException unprintable) {
      return "unprintable";
    }
  }
}
